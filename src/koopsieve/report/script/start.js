// ---- all of it ---------------------------------------------------------------------------------------------------------------
drawChannels();
drawSpectra();
drawErrors();
drawRuns();
drawStretches();
drawResiduals();
drawSize();
drawDrives();
drawEigenvalues();
drawResponses();
offerDownloads();
